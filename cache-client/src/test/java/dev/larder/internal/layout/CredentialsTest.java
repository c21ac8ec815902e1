package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.posix.Posix;
import java.util.List;
import org.junit.jupiter.api.Test;

class CredentialsTest {
    @Test
    void theKernelsFileSaysWhatTheCLibrarySays() {
        Credentials credentials = Credentials.ofThisProcess();

        assertThat(credentials.uid()).isEqualTo(Posix.system().userId());
        assertThat(credentials.groups())
                .containsExactlyInAnyOrderElementsOf(Posix.system().groupIds());
    }

    @Test
    void theRealUserCountsAndTheEffectiveGroupIsAmongTheGroups() {
        List<String> status =
                List.of("Name:\tjava", "Uid:\t1000\t0\t0\t0", "Gid:\t100\t7\t7\t7", "Groups:\t4 27 4294967294 ");

        assertThat(Credentials.of(status)).contains(new Credentials(1000, List.of(4, 27, -2, 7)));
    }

    @Test
    void withoutSupplementaryGroupsThereIsTheEffectiveOne() {
        assertThat(Credentials.of(List.of("Uid:\t0\t0", "Gid:\t0\t0", "Groups:\t")))
                .contains(new Credentials(0, List.of(0)));
        assertThat(Credentials.of(List.of("Name:\tjava"))).isEmpty();
    }
}
