package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import org.junit.jupiter.api.Test;

class UserQuotaTest {
    private final UserQuota seats = new UserQuota("too many connections", 16, "try again");

    @Test
    void aMemberHasAnEighth() {
        take(member(1), 2);

        assertThatThrownBy(() -> seats.take(member(1)))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("too many connections: limit=2 user=u1 own=2 all=2");
        assertThatCode(() -> seats.take(member(2))).doesNotThrowAnyException();
    }

    @Test
    void allMembersTogetherLeaveTheOwnerAQuarter() {
        for (int uid = 1; uid <= 6; uid++) {
            take(member(uid), 2);
        }

        assertThatThrownBy(() -> seats.take(member(7))).isInstanceOf(LarderException.class);
        take(owner(), 4);
        assertThatThrownBy(() -> seats.take(owner())).isInstanceOf(LarderException.class);
    }

    @Test
    void aSeatThatWasLeftIsFree() {
        take(member(1), 2);
        seats.release(member(1));

        assertThatCode(() -> seats.take(member(1))).doesNotThrowAnyException();
    }

    private void take(Peer peer, int count) {
        for (int i = 0; i < count; i++) {
            seats.take(peer);
        }
    }

    private static Peer member(int uid) {
        return new Peer(1, uid, "u" + uid, false);
    }

    private static Peer owner() {
        return new Peer(1, 99, "owner", true);
    }
}
