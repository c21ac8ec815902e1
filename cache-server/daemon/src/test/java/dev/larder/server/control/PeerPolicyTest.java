package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.internal.posix.PeerCredentials;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PeerPolicyTest {
    private static final PeerPolicy SHARED = new PeerPolicy(new StoreOwner(4100, "grace", 60, "games", 042750));
    private static final PeerPolicy ALONE = new PeerPolicy(new StoreOwner(4100, "grace", 60, "games", 040700));

    @Test
    void ownerAndRootMayAllAndMembersSome() {
        assertThat(SHARED.admit(peer(4100, 4100), "grace").isOwner()).isTrue();
        assertThat(SHARED.admit(peer(0, 0), "root").isOwner()).isTrue();
        assertThat(SHARED.admit(peer(4101, 4101, 20, 60), "ada").isOwner()).isFalse();
    }

    @Test
    void othersAreRefusedWithBothNames() {
        assertThatThrownBy(() -> SHARED.admit(peer(4101, 4101, 20), "ada"))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("user=ada uid=4101 owner=grace group=games");
    }

    @Test
    void theGroupOfAStoreThatIsNotSharedCountsForNothing() {
        assertThatThrownBy(() -> ALONE.admit(peer(4101, 60), "ada"))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("group=none");
    }

    private static PeerCredentials peer(int uid, Integer... groups) {
        return new PeerCredentials(1, uid, Set.of(groups));
    }
}
