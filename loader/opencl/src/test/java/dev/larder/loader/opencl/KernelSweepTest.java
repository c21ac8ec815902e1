package dev.larder.loader.opencl;

import dev.larder.loader.device.KernelSweep;
import dev.larder.testing.Rounds;
import org.junit.jupiter.api.Test;

class KernelSweepTest {
    private static final int CASES = 40;

    @Test
    void anyStepsGiveTheBytesOfTheHost() {
        Rounds rounds = Rounds.of("kernels of 40 cases", 1); // each takes 2 s to build
        for (int round = 0; round < rounds.count(); round++) {
            try (KernelDevice device = new KernelDevice()) {
                new KernelGroup(new KernelSweep(rounds.seed() + round).cases(CASES)).check(device);
            }
        }
    }
}
