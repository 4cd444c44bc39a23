"""
Hear of changes
===============

Five sensors of a machine, simulated. From row 600 on one of them becomes noisy, from row 900 on another is stuck. The
model learned from the first 400 rows; every later row is compared with its forecast, and what is too much is added up
until it raises an alarm.
"""

import matplotlib.pyplot as plt
import numpy as np

from factorstream import SequenceFilter, plot

rng = np.random.default_rng(0)
rows = np.arange(1200)
machine = np.sin(rows[:, None] / 9 + np.arange(5)) + 0.2 * rng.normal(size=(1200, 5))
machine[600:700, 1] += 0.6 * rng.normal(size=100)  # sensor 1 becomes noisy for 100 rows
machine[900:, 3] = machine[900, 3]  # sensor 3 is stuck

model = SequenceFilter(n_components=3).fit(machine[:400])
alarms = model.alarms(machine)

# %%
fired = np.flatnonzero(alarms.fired)
print(f"alarms in the 600 rows before anything happens: {(fired < 600).sum()}")
for begin, what in ((600, "noisy sensor"), (900, "stuck sensor")):
    print(f"{what}: first alarm {fired[fired >= begin][0] - begin} rows after it began")

# %%
# The sensors, how well every row fits what was expected, and the sums, which begin again at zero after every alarm.
figure, axes = plt.subplots(3, 1, sharex=True, figsize=(8.6, 7.4))
for sensor in range(5):
    axes[0].plot(rows, machine[:, sensor] - 3 * sensor, lw=0.7, color="#D55E00" if sensor in (1, 3) else "#777777")
axes[0].set(yticks=-3 * np.arange(5), yticklabels=[f"sensor {sensor}" for sensor in range(5)])
plot.innovations(model, machine, ax=axes[1:])
plt.show()
