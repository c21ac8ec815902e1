package dev.larder.server.residency;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.schedules.Race;
import dev.larder.schedules.Schedules;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Two loads need the room of the same two versions: one needs both, the other one. */
final class AdmissionScenario implements Schedules.Scenario {
    private static final int ROOM = 2;

    private final SmallStore made;
    private final List<PublishedVersion> versions;

    AdmissionScenario(Path root) {
        this.made = new SmallStore(root, ROOM);
        this.versions = List.of(made.prepare("a"), made.prepare("b"));
    }

    /** The reservations of those that had room. */
    private static final class Found {
        private @Nullable Reservation both;
        private @Nullable Reservation one;
    }

    @Override
    public void run() {
        Residency residency = made.newResidency();
        Race.alone(() -> {
            for (PublishedVersion version : versions) {
                made.restore(version, residency);
            }
        });
        Found found = new Found();

        Race.run(() -> found.both = reserve(residency, 2), () -> found.one = reserve(residency, 1));

        Race.alone(() -> {
            long left = residency.current().size();
            Race.require((found.both == null) != (found.one == null), "both had room, or both were refused");
            Race.require(left == (found.both == null ? 1 : 0), "versions left: " + left);
            Race.require(
                    made.store().reservedBytes() + residency.usedBytes() == ROOM * SmallStore.VERSION_BYTES,
                    "reserved: " + made.store().reservedBytes() + ", used: " + residency.usedBytes());
            close(found.both);
            close(found.one);
            for (PublishedVersion version : versions) {
                made.requireInOrder(version, residency);
                made.clear(version, residency);
            }
        });
    }

    private static @Nullable Reservation reserve(Residency residency, int versions) {
        try {
            return residency.reserve(versions * SmallStore.VERSION_BYTES, () -> true);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NO_SPACE) {
                return null;
            }
            throw e;
        }
    }

    private static void close(@Nullable Reservation reservation) {
        if (reservation != null) {
            reservation.close();
        }
    }

    @Override
    public void close() {
        made.close();
    }
}
