package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * One rank of a meeting by file. The first rank begins the meeting, and every rank takes its slot. The rank that finds living processes in
 * all slots completes the meeting. Each rank leaves, and the last one removes the file.
 *
 * <p>The slot of a dead process is free. A file without living processes remains from a killed job, and the meeting begins again. A second
 * job at the same file is refused if it differs from the first or its ranks are taken, and waits if the first is just leaving.
 */
final class FileMeeting {
    private static final Logger LOG = Logs.of(FileMeeting.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(2);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);
    private static final int FAREWELL_TRIES = 20;

    private final Path path;
    private final RankSeat seat;
    private final Deadline deadline;
    private final MachineIdentity machine = MachineIdentity.current();
    private final ProcessIdentity self = ProcessIdentity.current();
    private final long nonce = ThreadLocalRandom.current().nextLong();
    private @Nullable MeetingFile file;
    private @Nullable MeetingFileDescriptor seen;
    private String state = "";

    FileMeeting(Path path, RankSeat seat, Deadline deadline) {
        this.path = path;
        this.seat = seat;
        this.deadline = deadline;
    }

    /** Waits for the others, by looking again and again, and returns the key. */
    String meet() {
        try {
            Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
            while (true) {
                String key = look();
                if (key != null) {
                    return key;
                }
                requireTime();
                if (!backoff.pause(deadline)) {
                    throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for other ranks")
                            .with("file", path)
                            .exception();
                }
            }
        } catch (RuntimeException e) {
            withdraw();
            throw e;
        } finally {
            if (file != null) {
                file.close();
            }
        }
    }

    private @Nullable String look() {
        MeetingFile open = file == null ? MeetingFile.open(path) : file;
        file = open;
        if (!open.tryLock()) {
            state = "another process keeps the file locked (to see which: fuser " + path + ")";
            return null;
        }
        try {
            state = "";
            if (!open.isInPlace()) {
                open.close();
                file = null;
                return null;
            }
            return takePart(open);
        } finally {
            if (file != null) {
                open.unlock();
            }
        }
    }

    private @Nullable String takePart(MeetingFile open) {
        MeetingFileDescriptor content = open.read();
        if (!content.isEmpty() && !content.isMeeting()) {
            throw refused("the file is not a rendezvous file").remedy("name a file that does not exist yet");
        }
        if (content.isEmpty() || isLeftOver(content)) {
            content = open.begin(seat, machine);
        }
        if (content.isComplete() && !isMine(content)) {
            state = "an earlier rendezvous there has not ended: ranks " + Ranks.text(living(content))
                    + " are still leaving: end those that are stopped, or use another file";
            return null;
        }
        if (!isMine(content)) {
            requireFree(content);
            content.take(seat.rank(), self, nonce);
            open.writeSlot(content, seat.rank());
        }
        seen = content;
        if (!content.isComplete() && !(everySlotTaken(content) && missing().isEmpty())) {
            return null;
        }
        leave(open, content);
        return content.key();
    }

    /** Returns whether no living process can use the file any more. Refuses a file of another release or machine. */
    private boolean isLeftOver(MeetingFileDescriptor content) {
        if (!content.isWhole()) {
            LOG.info("a rendezvous file was never finished, taking it over: file={}", path);
            return true;
        }
        if (!content.isKnownVersion()) {
            throw refused("the file is from another Larder release")
                    .with("version", content.version())
                    .remedy("remove it, or use the same Larder release for all ranks");
        }
        boolean isSameBoot = content.isOfBoot(machine);
        if (!isSameBoot && !(content.isOfMachine(machine) && machine.isKnown())) {
            throw refused("the rendezvous file is from another machine")
                    .remedy("ranks on several machines are not supported yet; remove the file if no other machine uses"
                            + " it");
        }
        if (isSameBoot && (isMine(content) || !living(content).isEmpty())) {
            return false;
        }
        LOG.info("a rendezvous file was left by ranks that are gone, taking it over: file={}", path);
        return true;
    }

    private void requireFree(MeetingFileDescriptor content) {
        if (!content.isOfJob(seat)) {
            throw refused("another job uses the rendezvous file")
                    .with("ranks", Ranks.text(living(content)))
                    .remedy("give every job its own file");
        }
        if (content.worldSize() != seat.worldSize()) {
            throw refused("the ranks in the rendezvous file have another world size")
                    .with("here", content.worldSize())
                    .with("own", seat.worldSize())
                    .remedy("give all ranks the same world size, and every job its own file");
        }
        if (living(content).get(seat.rank())) {
            throw refused("this rank has already joined")
                    .with("rank", seat.rank())
                    .with("pid", content.occupant(seat.rank()).pid())
                    .remedy("give every rank its own number, and every job its own file");
        }
    }

    private Failure refused(String what) {
        return Failure.of(ErrorCode.REFUSED, what).with("file", path);
    }

    private boolean isMine(MeetingFileDescriptor content) {
        return seat.rank() < content.worldSize()
                && content.slotState(seat.rank()) == MeetingFileDescriptor.HERE
                && content.nonce(seat.rank()) == nonce
                && content.occupant(seat.rank()).equals(self);
    }

    private static BitSet living(MeetingFileDescriptor content) {
        BitSet living = new BitSet();
        for (int rank = 0; rank < content.worldSize(); rank++) {
            if (content.slotState(rank) == MeetingFileDescriptor.HERE
                    && !content.occupant(rank).isDead()) {
                living.set(rank);
            }
        }
        return living;
    }

    private static boolean everySlotTaken(MeetingFileDescriptor content) {
        for (int rank = 0; rank < content.worldSize(); rank++) {
            if (content.slotState(rank) != MeetingFileDescriptor.HERE) {
                return false;
            }
        }
        return true;
    }

    /** Returns the ranks that were absent or dead when the file was last read. */
    private BitSet missing() {
        BitSet missing = Ranks.all(seat.worldSize());
        if (seen != null) {
            missing.andNot(living(seen));
        }
        return missing;
    }

    /** Returns the ranks that came, and left at their deadline. */
    private BitSet gaveUp() {
        BitSet ranks = new BitSet();
        MeetingFileDescriptor content = seen;
        for (int rank = 0; content != null && rank < content.worldSize(); rank++) {
            ranks.set(rank, content.slotState(rank) == MeetingFileDescriptor.GAVE_UP);
        }
        return ranks;
    }

    /** Completes the meeting if it is not complete, and leaves; the last rank removes the file. */
    private void leave(MeetingFile open, MeetingFileDescriptor content) {
        if (!content.isComplete()) {
            content.state(MeetingFileDescriptor.COMPLETE);
            open.writeHeader(content);
        }
        goAway(open, content, MeetingFileDescriptor.LEFT);
    }

    private void goAway(MeetingFile open, MeetingFileDescriptor content, int slotState) {
        content.slotState(seat.rank(), slotState);
        if (living(content).isEmpty()) {
            open.remove();
        } else {
            open.writeSlot(content, seat.rank());
        }
    }

    /** Frees the slot after a failure, so that others do not count on it. Tries a few times only, because the caller waits. */
    private void withdraw() {
        MeetingFile open = file;
        if (open == null) {
            return;
        }
        boolean isInterrupted = Thread.interrupted();
        try {
            for (int i = 0; i < FAREWELL_TRIES; i++) {
                if (open.tryLock()) {
                    MeetingFileDescriptor content = open.read();
                    if (open.isInPlace() && content.isMeeting() && content.isWhole() && isMine(content)) {
                        goAway(open, content, MeetingFileDescriptor.GAVE_UP);
                    }
                    return;
                }
                TimeUnit.MILLISECONDS.sleep(FIRST_PAUSE.toMillis());
            }
        } catch (InterruptedException e) {
            isInterrupted = true;
        } catch (LarderException e) {
            LOG.warn("cannot leave the rendezvous file cleanly: file={}", path, e);
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void requireTime() {
        if (!deadline.isOver()) {
            return;
        }
        BitSet missing = missing();
        BitSet gaveUp = gaveUp();
        missing.andNot(gaveUp);
        Failure failure = Failure.of(ErrorCode.DEADLINE, "not all ranks arrived in time")
                .with("missing", seen == null ? "unknown" : Ranks.text(missing))
                .with("file", path)
                .with("timeout", deadline.timeout());
        if (!gaveUp.isEmpty()) {
            failure.with("gaveUpBefore", Ranks.text(gaveUp));
        }
        if (!state.isEmpty()) {
            failure.with("state", state);
        }
        throw failure.remedy(MeetingGuest.LOOK_AT_THE_MISSING);
    }
}
