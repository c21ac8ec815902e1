package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FairQueueTest {
    private static final Peer OWNER = new Peer(10, 1, "owner", true);
    private static final Peer SECOND_OF_OWNER = new Peer(11, 1, "owner", true);
    private static final Peer ADA = new Peer(20, 2, "ada", false);
    private static final Peer BOB = new Peer(30, 3, "bob", false);

    private final Queue<String> order = new ConcurrentLinkedQueue<>();
    private final CountDownLatch open = new CountDownLatch(1);
    private FairQueue queue = new FairQueue("test-fair", 1, 1_024);

    @AfterEach
    void close() {
        open.countDown();
        queue.close();
    }

    /** Submits a task that lasts until the latch is open. */
    private FairQueue.Ticket block(Peer peer) {
        return queue.submit(peer, "Block", () -> {
            order.add("block " + peer.user());
            awaitOpen();
        });
    }

    /** Submits such a task, and waits until it has its turn. */
    private FairQueue.Ticket occupy(Peer peer) {
        FairQueue.Ticket ticket = block(peer);
        await().atMost(Duration.ofMinutes(1)).until(() -> order.contains("block " + peer.user()));
        return ticket;
    }

    private void awaitOpen() {
        try {
            open.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private FairQueue.Ticket note(Peer peer, String text) {
        return queue.submit(peer, "Note", () -> order.add(text));
    }

    private void awaitOrder(String... texts) {
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(order).containsExactly(texts));
    }

    @Test
    void usersTakeTurnsHoweverMuchOneOfThemHasAskedFor() {
        occupy(OWNER);
        List.of("a1", "a2", "a3", "a4").forEach(text -> note(ADA, text));
        note(BOB, "b1");
        note(OWNER, "o1");

        open.countDown();

        awaitOrder("block owner", "a1", "b1", "o1", "a2", "a3", "a4");
    }

    @Test
    void processesOfOneUserTakeTurns() {
        occupy(OWNER);
        List.of("a", "b", "c").forEach(text -> note(OWNER, text));
        note(SECOND_OF_OWNER, "other");

        open.countDown();

        awaitOrder("block owner", "a", "other", "b", "c");
    }

    @Test
    void whatIsWithdrawnBeforeItsTurnNeverRuns() {
        FairQueue.Ticket withdrawRunning = occupy(OWNER);
        List<FairQueue.Ticket> withdraws = List.of(note(OWNER, "1"), note(ADA, "2"), note(ADA, "3"), note(OWNER, "4"));
        note(ADA, "kept");

        assertThat(withdraws).allMatch(FairQueue.Ticket::withdraw);
        assertThat(withdraws).noneMatch(FairQueue.Ticket::withdraw);
        assertThat(withdrawRunning.withdraw()).isFalse();
        open.countDown();

        awaitOrder("block owner", "kept");
    }

    @Test
    void membersLeaveATurnToTheOwnerAndAMemberLeavesSomeToOthers() {
        queue.close();
        queue = new FairQueue("test-fair", 4, 1_024);
        List.of(ADA, ADA, ADA, BOB, BOB).forEach(this::block);

        await().atMost(Duration.ofMinutes(1)).until(() -> order.size() == 3);
        block(OWNER);

        await().atMost(Duration.ofMinutes(1)).until(() -> order.size() == 4);
        assertThat(order).containsExactlyInAnyOrder("block ada", "block ada", "block bob", "block owner");
    }

    @Test
    void oneProcessLeavesTurnsToOthersOfItsUser() {
        queue.close();
        queue = new FairQueue("test-fair", 4, 1_024);
        List.of(OWNER, OWNER, OWNER, OWNER).forEach(this::block);

        note(SECOND_OF_OWNER, "other");

        await().atMost(Duration.ofMinutes(1)).until(() -> order.contains("other"));
        assertThat(order).containsExactlyInAnyOrder("block owner", "block owner", "other");
    }

    @Test
    void moreThanTheShareOfAUserIsRefusedWithItsLimitAndOthersAreTaken() {
        queue.close();
        queue = new FairQueue("test-fair", 1, 16);
        occupy(OWNER);
        FairQueue.Ticket first = note(ADA, "a1");
        note(ADA, "a2");

        assertThatThrownBy(() -> note(ADA, "a3"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContaining("too many requests are waiting: limit=2 user=ada own=2 all=2");
        note(OWNER, "o1");
        assertThat(first.withdraw()).isTrue();
        note(ADA, "a4");
        open.countDown();

        awaitOrder("block owner", "a2", "o1", "a4");
    }

    @Test
    void aTurnThatIsHeldEndsWhenItIsGivenBack() {
        Queue<Runnable> turns = new ConcurrentLinkedQueue<>();
        queue.submitHolding(OWNER, "Hold", turns::add);
        note(OWNER, "next");
        await().atMost(Duration.ofMinutes(1)).until(() -> !turns.isEmpty());
        assertThat(order).isEmpty();

        turns.element().run();
        turns.element().run();

        awaitOrder("next");
    }

    @Test
    void aTaskThatFailsEndsItsTurn() {
        queue.submitHolding(OWNER, "Fail", endTurn -> {
            Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> order.add(failure.getMessage()));
            throw new IllegalStateException("failed");
        });
        note(OWNER, "next");

        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(order).containsExactlyInAnyOrder("failed", "next"));
    }

    private void abandonAtMost(int count, Duration timeToEnd) {
        queue.close();
        queue = new FairQueue("test-files", 1, 1_024, count, timeToEnd, Thread::new);
    }

    @Test
    void aTaskThatHangsLosesItsTurnWhenItsClientLeaves() {
        abandonAtMost(1, Duration.ZERO);
        FairQueue.Ticket hanging = occupy(ADA);
        note(BOB, "waited");

        assertThat(hanging.withdraw()).isFalse();

        awaitOrder("block ada", "waited");
        assertThat(queue.abandoned()).singleElement().satisfies(task -> {
            assertThat(task.what()).isEqualTo("Block of a client that has left");
            assertThat(task.thread().getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("awaitOpen"));
        });
        open.countDown();
        await().atMost(Duration.ofMinutes(1)).until(() -> queue.abandoned().isEmpty());
    }

    @Test
    void aTaskHasTimeToEndByItselfBeforeItLosesItsTurn() {
        abandonAtMost(1, Duration.ofDays(1));
        occupy(ADA).withdraw();
        note(BOB, "waited");

        assertThat(queue.abandoned()).isEmpty();
        open.countDown();

        awaitOrder("block ada", "waited");
    }

    @Test
    void aTurnIsFreeAsSoonAsThatTimeIsOver() {
        abandonAtMost(1, Duration.ofMillis(200));
        note(BOB, "first");
        awaitOrder("first");
        occupy(ADA).withdraw();

        note(BOB, "waited");

        awaitOrder("first", "block ada", "waited");
    }

    @Test
    void tasksBeyondTheBoundKeepTheirTurns() {
        abandonAtMost(1, Duration.ZERO);
        occupy(ADA).withdraw();
        occupy(BOB).withdraw();
        note(OWNER, "waits");

        assertThat(queue.abandoned()).extracting(FairQueue.Running::peer).containsExactly(ADA);
        assertThat(queue.blockingFor(Duration.ZERO))
                .extracting(FairQueue.Running::peer)
                .containsExactly(BOB);
        open.countDown();

        awaitOrder("block ada", "block bob", "waits");
    }

    @Test
    void aQueueThatIsNotOverFilesKeepsTheTurnsOfClientsThatHaveLeft() {
        abandonAtMost(0, Duration.ZERO);
        occupy(ADA).withdraw();
        note(BOB, "waits");

        assertThat(queue.abandoned()).isEmpty();
        assertThat(queue.blockingFor(Duration.ZERO)).hasSize(1);
    }

    /** A system that has only so many threads, and then fails as the JDK does. */
    private static ThreadFactory threads(AtomicInteger left) {
        return task -> new Thread(task, "test-few") {
            @Override
            public synchronized void start() {
                if (left.getAndDecrement() <= 0) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                super.start();
            }
        };
    }

    @Test
    void thereAreNoMoreThreadsThanTurnsHoweverManyTasksComeTogether() {
        queue.close();
        AtomicInteger left = new AtomicInteger(1_000);
        queue = new FairQueue("test-few", 4, 1_024, 0, Duration.ZERO, threads(left));

        IntStream.range(0, 100).forEach(i -> block(i % 2 == 0 ? OWNER : SECOND_OF_OWNER));
        await().atMost(Duration.ofMinutes(1)).until(() -> order.size() == 4);

        assertThat(1_000 - left.get()).isLessThanOrEqualTo(5);
    }

    @Test
    void tasksWaitForTheLastThreadIfTheSystemHasNoOther() {
        queue.close();
        queue = new FairQueue("test-few", 4, 1_024, 0, Duration.ZERO, threads(new AtomicInteger(1)));
        occupy(OWNER);
        note(OWNER, "second");
        note(ADA, "third");

        open.countDown();

        awaitOrder("block owner", "second", "third");
    }

    @Test
    void aTaskWaitsForTheLastThreadIfItsTurnIsGivenBackByAnother() {
        queue.close();
        queue = new FairQueue("test-few", 1, 1_024, 0, Duration.ZERO, threads(new AtomicInteger(1)));
        Queue<Runnable> turns = new ConcurrentLinkedQueue<>();
        queue.submitHolding(OWNER, "Hold", turns::add);
        note(ADA, "next");
        await().atMost(Duration.ofMinutes(1)).until(() -> !turns.isEmpty());

        turns.element().run();

        awaitOrder("next");
    }

    @Test
    void aRequestIsRefusedIfThereIsNoThreadAtAllAndTakenWhenThereIsOne() {
        queue.close();
        AtomicInteger left = new AtomicInteger();
        queue = new FairQueue("test-few", 4, 1_024, 0, Duration.ZERO, threads(left));

        assertThatThrownBy(() -> note(OWNER, "refused"))
                .hasMessageContaining("the system has no thread left for a request: request=Note");
        left.set(1);
        note(OWNER, "taken");

        awaitOrder("taken");
    }

    @Test
    void whatRunsForLongIsNamedWithItsThread() {
        occupy(ADA);
        note(BOB, "waits");

        List<FairQueue.Running> found = queue.runningFor(Duration.ZERO);

        assertThat(found).singleElement().satisfies(running -> {
            assertThat(running.what()).isEqualTo("Block");
            assertThat(running.peer()).isEqualTo(ADA);
            assertThat(running.thread().getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("awaitOpen"));
        });
        assertThat(queue.runningFor(Duration.ofDays(1))).isEmpty();
    }

    @Test
    void aClosedQueueTakesNothingAndDropsWhatWaits() {
        occupy(OWNER);
        note(OWNER, "dropped");

        queue.close();
        open.countDown();

        assertThatThrownBy(() -> note(OWNER, "late"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
        assertThat(order).containsExactly("block owner");
    }
}
