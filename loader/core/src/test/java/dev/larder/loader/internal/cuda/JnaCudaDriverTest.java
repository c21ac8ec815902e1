package dev.larder.loader.internal.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.internal.device.HostMemory;
import java.util.Map;
import org.agrona.BufferUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Calls a driver's real library, where one is named: {@code -Dlarder.cuda.library=libcuda.so.1} on a machine with a GPU. */
@EnabledIfSystemProperty(named = CudaLibrary.PROPERTY, matches = ".+")
class JnaCudaDriverTest {
    private final JnaCudaDriver driver = JnaCudaDriver.load();

    @Test
    void pagesAreLockedAndUnlockedManyTimesOver() {
        PageLocking locking = PageLocking.open(driver, Map.of(), 1 << 20);

        for (int i = 0; i < 20; i++) {
            HostMemory first = locking.allocate((4 << 20) + 5);
            HostMemory second = locking.allocate(1);
            first.bytes().put(4 << 20, (byte) i);
            assertThat(driver.lockPages(BufferUtil.address(first.bytes()), 1, PageLocking.PORTABLE))
                    .isNotZero();
            second.close();
            first.close();
            assertThat(first.bytes().get(4 << 20)).isEqualTo((byte) i);
        }
    }

    @Test
    void errorsHaveTheDriversNames() {
        assertThat(driver.nameOf(CudaCalls.OUT_OF_MEMORY)).isEqualTo("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(driver.nameOf(123_456)).isEqualTo("CUDA error");
    }
}
