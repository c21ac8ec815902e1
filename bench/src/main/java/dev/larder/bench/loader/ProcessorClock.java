package dev.larder.bench.loader;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/** The processor time of processes: on a busy machine it is steadier than the clock. */
final class ProcessorClock {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private ProcessorClock() {}

    /** Returns the time of this process. */
    static long ns() {
        return SYSTEM.getProcessCpuTime();
    }

    /** Returns the time of this process and others, which are counted in steps of 10 ms. */
    static long ns(List<Process> others) {
        long sum = ns();
        for (Process other : others) {
            sum += other.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
        }
        return sum;
    }
}
