package dev.larder.cluster;

import dev.larder.cluster.Objections.Objection;
import dev.larder.distributed.internal.meeting.Acceptor;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.internal.MasterPort;
import dev.larder.launch.process.NodePlace;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Leads a run on several nodes: takes nodes in, starts rounds, ends them where a rank fails or a node is lost, and says how the run
 * ended. It runs in the process of one of the nodes, which is node 0 and speaks to it as all others do.
 *
 * <p>One thread decides; it never waits but for the queue of what nodes say.
 */
final class Leader implements AutoCloseable {
    /** How long nodes may take to end their ranks beyond the grace of a plan. */
    private static final Duration BEYOND_GRACE = Duration.ofSeconds(30);

    private static final Duration FAREWELL = Duration.ofSeconds(5);

    private final NodeOptions options;
    private final NodeListener listener;
    private final String token = randomText();
    private final String runId = randomText();
    private final BlockingQueue<Arrivals.Event> events;
    private final LineForwarder lines;
    private final Acceptor<Message, Member> acceptor;
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private final List<Member> early = new ArrayList<>();
    private final Returning returning;
    private final Thread thread;
    private @Nullable Member own;
    private @Nullable Round round;
    private @Nullable StopKind stop;
    private String stoppedBy = "";
    private String lastLoss = "";
    private @Nullable Verdict end;
    private List<Member> group = List.of();
    private @Nullable String listing;
    private @Nullable String wholes;
    private int rounds;
    private int failures;

    private Leader(
            NodeOptions options,
            NodeListener listener,
            BlockingQueue<Arrivals.Event> events,
            LineForwarder lines,
            Acceptor<Message, Member> acceptor) {
        this.options = options;
        this.listener = listener;
        this.events = events;
        this.lines = lines;
        this.acceptor = acceptor;
        this.returning = new Returning(options.times().heartbeat());
        this.thread = new Thread(this::run, "larder-leader");
        thread.setDaemon(true);
    }

    /** Begins to lead; null where something listens at the endpoint already. */
    static @Nullable Leader start(NodeOptions options, NodeListener listener) {
        Acceptor<Message, Member> acceptor = Arrivals.listen(options);
        if (acceptor == null) {
            return null;
        }
        BlockingQueue<Arrivals.Event> events = new LinkedBlockingQueue<>();
        LineForwarder lines = new LineForwarder(
                some -> listener.linesOf(some.node(), some.rank(), some.lines()),
                lost -> lost + " lines of other nodes were left out here");
        acceptor.start(new Arrivals(events, lines, listener, options.times().silence()));
        Leader leader = new Leader(options, listener, events, lines, acceptor);
        leader.thread.start();
        return leader;
    }

    /** Returns what the leader knows its own node by. */
    String token() {
        return token;
    }

    private static String randomText() {
        byte[] bytes = new byte[8];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private void run() {
        Verdict verdict;
        try {
            verdict = lead();
        } catch (InterruptedException e) {
            verdict = new Verdict(ErrorCode.INTERRUPTED.number(), "the leader of the run was ended");
        } catch (LarderException e) {
            verdict = new Verdict(e.rawCode(), String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) { // all nodes wait for it
            verdict = new Verdict(ErrorCode.UNEXPECTED.number(), "the leader of the run failed: reason=" + e);
        }
        try {
            sayFarewell(verdict);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The end of a run. */
    private record Verdict(int exitCode, String message) {}

    private Verdict lead() throws InterruptedException {
        Verdict verdict = gather(options.times().meeting());
        while (verdict == null) {
            group = choose();
            verdict = bringData();
            if (verdict == null && members.containsAll(group)) {
                verdict = runOnce();
            }
            if (verdict == null && !members.containsAll(group)) {
                verdict = gather(options.times().join());
            }
        }
        return verdict;
    }

    private @Nullable Verdict runOnce() throws InterruptedException {
        try (Round started = begin()) {
            round = started;
            follow(started);
            return judge(started);
        } finally {
            round = null;
        }
    }

    /** Has the nodes of a round bring the data; null where the ranks may start, or a node was lost. */
    private @Nullable Verdict bringData() throws InterruptedException {
        Member leader = own;
        NodeData data = options.data();
        if (data == null || leader == null) {
            return null;
        }
        if (listing == null) {
            leader.tell(new Message.ListSources());
            awaitData(List.of(leader), member -> member.data() != null);
            Message.OfData listed = leader.data();
            if (listed == null || listed.exitCode() != 0) {
                return stop != null ? stopped() : listed == null ? null : dataFailed(leader, listed);
            }
            listing = listed.text();
        }
        int places = data.isCut() ? group.size() : 0;
        for (Member member : group) {
            if (!member.isLoaded(places)) {
                member.tell(new Message.Load(listing, member.node(), group.size()));
            }
        }
        awaitData(group, member -> member.isLoaded(places));
        Verdict verdict = stop != null ? stopped() : compareData();
        return verdict == null && data.isCut() && members.containsAll(group) ? proveShards(data) : verdict;
    }

    /** Has the shards of all nodes compared with the whole, and all nodes know it; null where they make it up, or a node was lost. */
    private @Nullable Verdict proveShards(NodeData data) throws InterruptedException {
        List<String> proofs = new ArrayList<>();
        group.forEach(
                member -> proofs.add(Objects.requireNonNull(member.loaded()).proof()));
        String found;
        try {
            found = data.agree(proofs);
        } catch (LarderException e) {
            return new Verdict(e.rawCode(), inPlaces(String.valueOf(e.getMessage())));
        }
        if (wholes != null && !wholes.equals(found)) {
            return new Verdict(
                    ErrorCode.BAD_INPUT.number(),
                    "the source changed while the run went on: was=" + oneLine(wholes) + " is=" + oneLine(found)
                            + "; start again when nothing writes to it");
        }
        wholes = found;
        Message keep = new Message.Keep(found);
        group.forEach(member -> {
            member.data(null); // it may have kept them before
            member.tell(keep);
        });
        awaitData(group, member -> member.data() instanceof Message.Kept);
        return stop != null ? stopped() : firstFailure();
    }

    /** Names nodes where a message has only their places. */
    private String inPlaces(String message) {
        String named = message;
        for (int node = group.size() - 1; node >= 0; node--) { // so that none is the beginning of another
            Member member = group.get(node);
            named = named.replace("node=#" + member.node(), "node=" + member.text());
        }
        return named;
    }

    private void awaitData(List<Member> asked, Predicate<Member> hasAnswered) throws InterruptedException {
        while (stop == null
                && asked.stream().noneMatch(Leader::hasFailed)
                && asked.stream().anyMatch(member -> members.contains(member) && !hasAnswered.test(member))) {
            handle(next(Deadline.none())); // a node that dies meanwhile, or is silent, is lost
        }
    }

    private static boolean hasFailed(Member member) {
        Message.OfData data = member.data();
        return data != null && data.exitCode() != 0;
    }

    /** Names the node that could not bring the data, or that has other data than the first; null where all have the same. */
    private @Nullable Verdict compareData() {
        Verdict failed = firstFailure();
        if (failed != null) {
            return failed;
        }
        Member first = group.get(0);
        Message.Loaded there = first.loaded();
        for (Member member : group) {
            Message.Loaded here = member.loaded();
            if (here != null && there != null && !here.text().equals(there.text())) {
                return new Verdict(
                        ErrorCode.BAD_INPUT.number(),
                        "the source changed between nodes: node=" + member.text() + " has="
                                + oneLine(here.text()) + " node=" + first.text() + " has="
                                + oneLine(there.text())
                                + "; start again when nothing writes to it, or make the copies on all machines equal");
            }
        }
        return null;
    }

    private @Nullable Verdict firstFailure() {
        for (Member member : group) {
            Message.OfData said = member.data();
            if (said != null && said.exitCode() != 0) {
                return dataFailed(member, said);
            }
        }
        return null;
    }

    private static String oneLine(String lines) {
        return lines.strip().replace('\n', ',');
    }

    private static Verdict dataFailed(Member member, Message.OfData data) {
        return new Verdict(data.exitCode(), "the data are not there: node=" + member.text() + " reason=" + data.text());
    }

    /** Waits until enough nodes are there: for the fewest as long as it may take, for more no longer than for late ones. */
    private @Nullable Verdict gather(Duration patience) throws InterruptedException {
        Deadline fewest = Deadline.after(patience);
        GatherNotice notice = new GatherNotice(options, listener);
        Deadline more = members.size() >= options.minNodes()
                ? Deadline.after(options.times().join())
                : null;
        while (stop == null) {
            boolean isEnough = own != null && members.size() >= options.minNodes();
            if (isEnough && (members.size() >= options.maxNodes() || (more != null && more.isOver()))) {
                return null;
            }
            if (!isEnough && fewest.isOver()) {
                return tooFew(patience);
            }
            more = isEnough ? more == null ? Deadline.after(options.times().join()) : more : null;
            handle(next(more == null ? notice.look(members.size(), fewest) : more));
        }
        return stopped();
    }

    private Verdict tooFew(Duration waited) {
        String facts = "nodes=" + members.size() + " min=" + options.minNodes() + " waited="
                + waited.toMillis() / 1000.0 + "s";
        String here = " here=" + members.stream().map(Member::text).collect(Collectors.joining(", "));
        return new Verdict(
                ErrorCode.DEADLINE.number(),
                lastLoss.isEmpty()
                        ? "not all nodes came in time: " + facts + here
                                + "; see what the others say, and whether they reach "
                                + options.endpoint().text()
                        : "too few nodes are left: " + facts + " lost=" + lastLoss
                                + "; start the run again, or allow fewer nodes with --nnodes MIN:MAX");
    }

    private Verdict stopped() {
        StopKind kind = stop == null ? StopKind.TERMINATE : stop;
        return new Verdict(kind.exitCode(), "the run was stopped: by=" + stoppedBy);
    }

    /** Chooses who takes part: those of the last round first. Their order is that of node ranks where all have one. */
    private List<Member> choose() {
        List<Member> chosen = members.stream()
                .sorted(Comparator.comparing((Member member) -> member != own)
                        .thenComparing(member -> member.node() < 0)
                        .thenComparingInt(Member::node)
                        .thenComparingInt(Member::number))
                .limit(options.maxNodes())
                .collect(Collectors.toCollection(ArrayList::new));
        if (chosen.stream().allMatch(member -> member.nodeRank() >= 0)) {
            chosen.sort(Comparator.comparingInt(Member::nodeRank));
        } else {
            chosen = NodePlaces.kept(chosen);
        }
        for (int node = 0; node < chosen.size(); node++) {
            chosen.get(node).node(node);
        }
        return chosen;
    }

    private Round begin() {
        List<Member> chosen = group;
        int ranksHere = options.plan().worldSize();
        Round begun = new Round(
                rounds++, chosen, MasterPort.takeForOthers(options.plan().masterPort()));
        listener.said(chosen.size() + (chosen.size() == 1 ? " node" : " nodes") + " of " + options.minNodes() + ":"
                + options.maxNodes() + " start " + chosen.size() * ranksHere + " ranks: "
                + chosen.stream().map(Member::text).collect(Collectors.joining(", ")));
        for (Member member : chosen) {
            member.takePart();
            member.tell(new Message.Start(new NodePlace(
                    member.node(),
                    chosen.size(),
                    member.node() * ranksHere,
                    chosen.size() * ranksHere,
                    masterAddress(),
                    begun.port(),
                    begun.number(),
                    failures,
                    runId)));
        }
        return begun;
    }

    /** Returns where all nodes reach rank 0: where they came to, if the endpoint's name means something else on this machine. */
    private String masterAddress() {
        String host = options.endpoint().host();
        return !options.endpoint().isLoopback()
                ? host
                : group.stream()
                        .map(member -> member.link().local())
                        .filter(address -> !address.isLoopbackAddress())
                        .map(InetAddress::getHostAddress)
                        .findFirst()
                        .orElse(host);
    }

    private void follow(Round running) throws InterruptedException {
        Deadline ending = Deadline.none();
        StopKind told = null;
        while (!running.isOver()) {
            handle(next(ending));
            if (stop != null && (told == null || stop.compareTo(told) > 0)) {
                told = stop;
                running.halt(stop, stopped().message());
            } else if (running.haltReason() == null) {
                haltWhereNeeded(running);
            }
            if (running.haltReason() != null && ending == Deadline.none()) {
                ending = Deadline.after(options.plan().grace().plus(BEYOND_GRACE));
            }
            if (ending.isOver()) {
                running.group().stream()
                        .filter(member -> member.over() == null)
                        .forEach(member -> lose(member, "its ranks do not end"));
            }
        }
    }

    private static void haltWhereNeeded(Round running) {
        if (!running.lost().isEmpty()) {
            running.halt(StopKind.TERMINATE, "lost " + running.lost().get(0).text());
            return;
        }
        running.firstFailure()
                .ifPresent(member -> running.halt(StopKind.TERMINATE, "a rank failed on " + member.text()));
    }

    /** Decides what follows a round; null where another one does. */
    private @Nullable Verdict judge(Round ended) {
        if (stop != null) {
            return stopped();
        }
        if (!ended.lost().isEmpty()) {
            return null;
        }
        Member failed = ended.firstFailure().orElse(null);
        if (failed == null) {
            return ended.isSuccess()
                    ? new Verdict(0, "")
                    : new Verdict(ErrorCode.UNEXPECTED.number(), "the ranks ended before their time");
        }
        Message.Over over = failed.over();
        String what = over == null ? "" : over.what() + " node=" + failed.text();
        failures++;
        String attempt = " attempt=" + failures + "/" + (options.plan().maxRestarts() + 1);
        boolean isFinal = over != null && over.isFinal(); // its program could not be started
        if (over != null && (isFinal || failures > options.plan().maxRestarts())) {
            String tail = over.lines();
            String advice = tail.isEmpty() ? "; it printed nothing" : "; its last lines:\n" + tail;
            return new Verdict(over.exitCode(), "a rank failed: " + what + attempt + advice);
        }
        listener.said("a rank failed: " + what + attempt + "; restarting the ranks of all nodes");
        return null;
    }

    private Arrivals.@Nullable Event next(Deadline deadline) throws InterruptedException {
        boolean isSettled = returning.settle(
                this::objectionTo,
                rival -> lose(rival, "its machine has come again, and it has said nothing since"),
                this::seat,
                this::refuse);
        if (isSettled) {
            return null; // whoever waits for members looks again
        }
        long atMost = Math.min(Duration.ofHours(1).toNanos(), returning.nextNanos());
        return events.poll(Math.min(deadline.remainingNanos(), atMost), TimeUnit.NANOSECONDS);
    }

    private void handle(Arrivals.@Nullable Event event) {
        if (event == null) {
            return;
        }
        Member member = event.member();
        String gone = event.goneBecause();
        Message message = event.message();
        if (gone != null) {
            lose(member, gone);
        } else if (message == null) {
            seat(member);
        } else if (member.isSeated()) {
            hear(member, message);
        }
    }

    private void seat(Member caller) {
        if (end != null) {
            caller.tell(farewell(caller, end));
            return;
        }
        boolean isOwn = caller.hello().token().equals(token);
        Member leader = isOwn ? caller : own;
        if (leader == null) {
            early.add(caller); // the leader's own node calls at once, and is the measure of all others
            return;
        }
        Objection objection = isOwn ? null : objectionTo(caller);
        if (objection != null && objection.rival() != null && objection.rival() != leader) {
            returning.add(caller);
            return;
        }
        if (objection != null) {
            refuse(caller, objection.text());
            return;
        }
        own = leader;
        caller.seat(options.times().heartbeat());
        members.add(caller);
        caller.tell(new Message.Seated(round != null, leader.hello().host()));
        if (round != null) {
            listener.said(caller.text() + " came late, and takes part from the next restart on");
        }
        List<Member> waiting = List.copyOf(early);
        early.clear();
        waiting.forEach(this::seat);
    }

    private @Nullable Objection objectionTo(Member caller) {
        Member leader = own;
        int places = options.minNodes() == options.maxNodes() ? options.maxNodes() : Integer.MAX_VALUE; // or spares
        return leader == null ? null : Objections.to(caller, leader.hello(), members, places);
    }

    private void refuse(Member caller, String objection) {
        listener.said("a node was turned away: node=" + caller.text() + " reason=" + objection);
        caller.tell(new Message.Refused(objection));
        caller.hangUp();
    }

    private void hear(Member member, Message message) {
        Round running = round;
        if (message instanceof Message.OfData data) {
            member.data(data);
        } else if (message instanceof Message.Stop asked) {
            askStop(member, asked.kind(), group.contains(member));
        } else if (running == null || !running.has(member)) {
            return; // it is about ranks of an earlier round
        } else if (message instanceof Message.Over over && over.round() == running.number()) {
            member.over(over);
        } else if (message instanceof Message.Failing failing
                && failing.round() == running.number()
                && running.haltReason() == null) {
            running.halt(StopKind.TERMINATE, "rank " + failing.rank() + " failed on " + member.text());
        }
    }

    /** Stops the run for a node that takes part, or leads; one that only waits leaves alone. */
    private void askStop(Member member, StopKind kind, boolean takesPart) {
        if (!takesPart && member != own) {
            member.tell(farewell(member, new Verdict(kind.exitCode(), "stopped before it took part")));
            return;
        }
        if (stop == null || kind.compareTo(stop) > 0) {
            stop = kind;
            stoppedBy = stoppedBy.isEmpty() ? "SIG" + kind.signal() + " at " + member.text() : stoppedBy;
        }
    }

    private void lose(Member member, String cause) {
        member.hangUp();
        early.remove(member);
        returning.remove(member);
        if (!members.remove(member)) {
            return;
        }
        Round running = round;
        if (running != null) {
            running.lose(member);
        }
        if (group.contains(member) && !(running != null && member.hasSucceeded())) {
            lastLoss = member.text() + " cause=" + cause;
            listener.said("a node is lost: node=" + lastLoss + "; waiting for it or others for "
                    + options.times().join().toMillis() / 1000.0 + " s");
        }
    }

    /** Returns the last message to a node. A launcher that never ran a rank must not report the success of the others. */
    private Message farewell(Member member, Verdict verdict) {
        if (verdict.exitCode() == 0 && !member.hasTakenPart()) {
            String reason = Objections.unused(options.minNodes() + ":" + options.maxNodes(), options.runName());
            return farewell(new Verdict(ErrorCode.REFUSED.number(), reason));
        }
        return farewell(verdict);
    }

    private static Message farewell(Verdict verdict) {
        return new Message.Final(verdict.exitCode(), verdict.message());
    }

    /** Sends the end of the run to all nodes, and waits until they hang up. */
    private void sayFarewell(Verdict verdict) throws InterruptedException {
        lines.drain(FAREWELL);
        end = verdict;
        group = List.of(); // who goes now is no loss
        members.forEach(member -> member.tell(farewell(member, verdict)));
        Deadline patience = Deadline.after(FAREWELL);
        while (!members.isEmpty() && !patience.isOver()) {
            handle(next(patience));
        }
        members.forEach(member -> member.hangUp());
    }

    /** Waits until all nodes know how the run ended. */
    void join() {
        try {
            thread.join(FAREWELL.multipliedBy(3).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        thread.interrupt();
        acceptor.close();
        lines.close();
        members.forEach(member -> member.hangUp());
        events.forEach(event -> event.member().hangUp()); // who came too late to be heard
    }
}
