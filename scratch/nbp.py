import os,sys,time,subprocess,cProfile,pstats,io
from benchmarks.cores import rows
from factorstream import DictionaryFilter
X=rows(100,20000,40,.25)
def fit(n):
    os.environ["FACTORSTREAM_THREADS"]=str(n); return DictionaryFilter(40,random_state=0).fit(X)
for n in (1,16): fit(n)
busy=[subprocess.Popen([sys.executable,"-c","while True: pass"]) for _ in range(16)]
try:
    for n in (1,16,1,16):
        for k in range(3):
            t=time.perf_counter(); c=time.process_time(); fit(n); print(n,"%.3f wall %.3f cpu"%(time.perf_counter()-t,time.process_time()-c))
    for n in (1,16):
        p=cProfile.Profile(time.perf_counter); p.enable(); fit(n); fit(n); p.disable()
        s=io.StringIO(); pstats.Stats(p,stream=s).sort_stats("tottime").print_stats(14); print(n, "\n".join(l[:150] for l in s.getvalue().splitlines()[4:]))
finally:
    for b in busy: b.kill()
for n in (1,2,4,16):
    for k in range(2):
        t=time.perf_counter(); fit(n); print("quiet",n,"%.3f"%(time.perf_counter()-t))
