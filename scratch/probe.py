import time, sys, traceback
import numpy as np, torch
print(torch.__version__, torch.version.cuda)
import numba; print("numba", numba.__version__)
def t(f, n=200):
    f(); torch.cuda.synchronize(); a=time.perf_counter()
    for _ in range(n): f()
    b=time.perf_counter(); torch.cuda.synchronize(); return (b-a)/n*1e6, (time.perf_counter()-a)/n*1e6
try:
    import numba_cuda; print("numba_cuda", numba_cuda.__version__)
except Exception as e: print("no numba_cuda", e)
try:
    from numba import cuda
    @cuda.jit
    def add(a, b):
        i = cuda.grid(1)
        if i < a.shape[0]: a[i] += b[i]
    a=torch.zeros(1<<20,device="cuda"); b=torch.ones(1<<20,device="cuda")
    s=time.perf_counter(); add[4096,256](a,b); torch.cuda.synchronize(); print("numba.cuda first", time.perf_counter()-s, float(a.sum()))
    print("numba.cuda call us (launch, whole)", t(lambda: add[4096,256](a,b)))
    da=cuda.as_cuda_array(a); db=cuda.as_cuda_array(b); k=add[4096,256]
    print("numba.cuda prepared", t(lambda: k(da,db)))
except Exception: traceback.print_exc(limit=-3)
try:
    import cupy
    s=time.perf_counter()
    k=cupy.RawKernel(r'extern "C" __global__ void add(float*a,const float*b,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n)a[i]+=b[i];}',"add")
    ca=cupy.zeros(1<<20,dtype="f4"); cb=cupy.ones(1<<20,dtype="f4")
    k((4096,),(256,),(ca,cb,np.int32(1<<20))); cupy.cuda.Device().synchronize(); print("cupy raw first", time.perf_counter()-s)
    print("cupy raw", t(lambda: k((4096,),(256,),(ca,cb,np.int32(1<<20)))))
except Exception: traceback.print_exc(limit=-3)
try:
    s=time.perf_counter()
    k2=torch.cuda._compile_kernel(r'extern "C" __global__ void add(float*a,const float*b,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n)a[i]+=b[i];}',"add")
    k2((4096,1,1),(256,1,1),(a,b,1<<20)); torch.cuda.synchronize(); print("torch nvrtc first", time.perf_counter()-s)
    print("torch nvrtc", t(lambda: k2((4096,1,1),(256,1,1),(a,b,1<<20))))
except Exception: traceback.print_exc(limit=-3)
try:
    import triton, triton.language as tl
    print("triton", triton.__version__)
    @triton.jit
    def tadd(a,b,n,B:tl.constexpr):
        i=tl.program_id(0)*B+tl.arange(0,B); m=i<n
        tl.store(a+i, tl.load(a+i,mask=m)+tl.load(b+i,mask=m),mask=m)
    s=time.perf_counter(); tadd[(1024,)](a,b,1<<20,1024); torch.cuda.synchronize(); print("triton first", time.perf_counter()-s)
    print("triton", t(lambda: tadd[(1024,)](a,b,1<<20,1024)))
    # Gram of masked rows, fp32 kinds
    @triton.jit
    def gramk(C, M, out, m, Q:tl.constexpr, B:tl.constexpr, P:tl.constexpr):
        acc=tl.zeros((Q,Q),tl.float32)
        c=tl.arange(0,Q); pid=tl.program_id(0); n=tl.num_programs(0)
        for s in range(pid*B, m, n*B):
            i=s+tl.arange(0,B)
            k=tl.load(M+i,mask=i<m,other=0)
            X=tl.load(C+i[:,None]*Q+c[None,:],mask=(i<m)[:,None],other=0.)
            Xm=tl.where(k[:,None]!=0,X,0.)
            acc=tl.dot(tl.trans(Xm),Xm,acc,input_precision=P)
        tl.store(out+pid*Q*Q+c[:,None]*Q+c[None,:],acc)
    m=10**6; C=torch.randn(m,64,device="cuda"); M=(torch.rand(m,device="cuda")>.25).to(torch.uint8)
    ref=((C.double()*M[:,None]).T@C.double())
    for P in ("ieee","tf32x3","tf32"):
        for B in (32,64,128):
            for nw in (4,8):
              for g in (132,264,528):
                try:
                    out=torch.empty(g,64,64,device="cuda")
                    f=lambda: gramk[(g,)](C,M,out,m,64,B,P,num_warps=nw)
                    f(); e=float((out.double().sum(0)-ref).abs().max()/ref.abs().max())
                    print("gram",P,B,nw,g,"%.0f us"%t(f,30)[1],"err %.1e"%e)
                except Exception as x: print("gram",P,B,nw,g,str(x)[:80])
except Exception: traceback.print_exc(limit=-3)
Cm=C*M[:,None]
print("torch CtC us", t(lambda: Cm.T@C,30)[1], "copy us", t(lambda: C.clone(),30)[1])
A=torch.randn(20000,41,60,device="cuda",dtype=torch.float64); A=A@A.mT
print("chol us", t(lambda: torch.linalg.cholesky_ex(A),10)[1]); L=torch.linalg.cholesky(A)
print("chol_inv us", t(lambda: torch.cholesky_inverse(L),10)[1])
