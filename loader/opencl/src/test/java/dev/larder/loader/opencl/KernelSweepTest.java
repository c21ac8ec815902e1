package dev.larder.loader.opencl;

import dev.larder.loader.device.KernelSweep;
import org.junit.jupiter.api.RepeatedTest;

class KernelSweepTest {
    private static final int CASES = 40;

    @RepeatedTest(6)
    void anyStepsGiveTheBytesOfTheHost() {
        long seed = System.nanoTime();
        System.out.println("seed=" + seed);
        try (KernelDevice device = new KernelDevice()) {
            new KernelGroup(new KernelSweep(seed).cases(CASES)).check(device);
        }
    }
}
