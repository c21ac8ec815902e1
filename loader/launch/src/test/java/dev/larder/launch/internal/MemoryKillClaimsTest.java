package dev.larder.launch.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Kills processes on a made-up machine, for want of memory and by hand. */
class MemoryKillClaimsTest {
    private final AtomicLong kills = new AtomicLong(7);
    private final AtomicLong nanos = new AtomicLong();
    private final MemoryKillClaims claims = new MemoryKillClaims(() -> new MemoryKills(kills.get(), -1), nanos::get);

    @Test
    void eachKillForWantOfMemoryExplainsOneDeath() {
        kills.addAndGet(2);

        assertThat(claims.claim()).isEqualTo("of its control group");
        assertThat(claims.claim()).isEqualTo("of its control group");
        assertThat(claims.claim()).isNull();
    }

    @Test
    void aKillThatWasNoticedLongAgoExplainsNothing() {
        kills.incrementAndGet();
        claims.look();
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));

        assertThat(claims.claim()).isNull();
    }

    @Test
    void aKillThatAnotherEndNoticedFirstStillExplainsADeath() {
        kills.incrementAndGet();
        claims.look();
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));

        assertThat(claims.claim()).isNotNull();
    }
}
