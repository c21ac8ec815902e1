package dev.larder.server.store.space;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountTest {
    private static final String MOUNTS = """
            overlay / overlay rw,relatime 0 0
            tmpfs /dev tmpfs rw,nosuid,size=65536k 0 0
            shm /dev/shm tmpfs rw,nosuid,nodev,size=25165824k,huge=within_size 0 0
            tmpfs /dev/shmother tmpfs rw,huge=always 0 0
            tmpfs /mnt/with\\040space tmpfs rw,huge=advise,mode=755 0 0
            first /mnt/twice ext4 rw 0 0
            second /mnt/twice xfs rw 0 0
            cut /mnt/cut
            """;

    @ParameterizedTest
    @CsvSource({
        "/dev/shm/larder, /dev/shm, tmpfs, within_size",
        "/dev/shm, /dev/shm, tmpfs, within_size",
        "/dev/shmother/x, /dev/shmother, tmpfs, always",
        "/dev/shmo, /dev, tmpfs, never",
        "/mnt/with space/larder, /mnt/with space, tmpfs, advise",
        "/mnt/twice/a, /mnt/twice, xfs, never",
        "/mnt/cut/a, /, overlay, never",
        "/home/ada, /, overlay, never"
    })
    void theDeepestAndLastMountAboveAFolderIsFound(String folder, String point, String type, String hugePages) {
        Mount mount = Mount.find(Path.of(folder), MOUNTS.lines()).orElseThrow();

        assertThat(mount.point()).isEqualTo(Path.of(point));
        assertThat(mount.type()).isEqualTo(type);
        assertThat(mount.hugePages()).isEqualTo(hugePages);
    }

    @Test
    void whereEveryPageIsHugeTheShortestFileTakesOne() {
        assertThat(new Mount(Path.of("/m"), "tmpfs", "rw,huge=always").fileUnitBytes())
                .isEqualTo(2 << 20);
        assertThat(new Mount(Path.of("/m"), "tmpfs", "rw,huge=advise").fileUnitBytes())
                .isEqualTo(4096);
        assertThat(new Mount(Path.of("/m"), "ext4", "rw").fileUnitBytes()).isEqualTo(4096);
    }

    @Test
    void withoutATableThereIsNoMount() {
        assertThat(Mount.find(Path.of("/dev/shm"), Stream.empty())).isEmpty();
    }

    @Test
    void theMountOfSharedMemoryIsATmpfs() {
        assertThat(Mount.of(Path.of("/dev/shm/absent"))).map(Mount::type).isEqualTo(Optional.of("tmpfs"));
    }
}
