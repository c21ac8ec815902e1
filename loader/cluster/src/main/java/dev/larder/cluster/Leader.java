package dev.larder.cluster;

import dev.larder.cluster.AdmissionRules.Objection;
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
 * Leads a run on several nodes: admits nodes, starts rounds, ends a round if a rank fails or a node is lost, and reports the end of the run.
 * It runs in the process of one of the nodes, which is node 0 and connects to it as all others do.
 *
 * <p>One thread decides; it waits only for the queue of messages.
 */
final class Leader implements AutoCloseable {
    /** The time for nodes to end their ranks, in addition to the grace of a plan. */
    private static final Duration BEYOND_GRACE = Duration.ofSeconds(30);

    private static final Duration FAREWELL = Duration.ofSeconds(5);

    private final NodeOptions options;
    private final NodeListener listener;
    private final String token = randomText();
    private final String runId = randomText();
    private final BlockingQueue<Arrivals.Event> events;
    private final LineForwarder lines;
    private final Acceptor<Message, RunNode> acceptor;
    private final List<RunNode> members = new CopyOnWriteArrayList<>();
    private final List<RunNode> early = new ArrayList<>();
    private final ContestedCallers contested;
    private final Thread thread;
    private @Nullable RunNode own;
    private @Nullable Round round;
    private @Nullable StopKind stop;
    private String stoppedBy = "";
    private String lastLoss = "";
    private @Nullable Verdict end;
    private List<RunNode> group = List.of();
    private @Nullable String listing;
    private @Nullable String wholes;
    private int rounds;
    private int failures;

    private Leader(
            NodeOptions options,
            NodeListener listener,
            BlockingQueue<Arrivals.Event> events,
            LineForwarder lines,
            Acceptor<Message, RunNode> acceptor) {
        this.options = options;
        this.listener = listener;
        this.events = events;
        this.lines = lines;
        this.acceptor = acceptor;
        this.contested = new ContestedCallers(options.times().heartbeat());
        this.thread = new Thread(this::run, "larder-leader");
        thread.setDaemon(true);
    }

    /** Starts to lead; null if another process listens at the endpoint. */
    static @Nullable Leader start(NodeOptions options, NodeListener listener) {
        Acceptor<Message, RunNode> acceptor = Arrivals.listen(options);
        if (acceptor == null) {
            return null;
        }
        BlockingQueue<Arrivals.Event> events = new LinkedBlockingQueue<>();
        LineForwarder lines = new LineForwarder(
                some -> listener.linesOf(some.node(), some.rank(), some.lines()),
                lost -> lost + " lines of other nodes were dropped");
        acceptor.start(new Arrivals(events, lines, listener, options.times().silence()));
        Leader leader = new Leader(options, listener, events, lines, acceptor);
        leader.thread.start();
        return leader;
    }

    /** Returns the token of the leader's own node. */
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
        } finally {
            Verdict ended = verdict;
            early.addAll(contested.callers());
            early.forEach(caller -> caller.tell(farewell(caller, ended)));
            early.forEach(RunNode::hangUp);
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

    /** Lets the nodes of a round load the data; null if the ranks may start, or a node was lost. */
    private @Nullable Verdict bringData() throws InterruptedException {
        RunNode leader = own;
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
        for (RunNode member : group) {
            if (!member.isLoaded(places)) {
                member.tell(new Message.Load(listing, member.node(), group.size()));
            }
        }
        awaitData(group, member -> member.isLoaded(places));
        Verdict verdict = stop != null ? stopped() : compareData();
        return verdict == null && data.isCut() && members.containsAll(group) ? proveShards(data) : verdict;
    }

    /** Compares the shards of all nodes with the whole, and sends all nodes the result; null if they are complete, or a node was lost. */
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

    /** Replaces the numbers of nodes in a message by their names. */
    private String inPlaces(String message) {
        String named = message;
        for (int node = group.size() - 1; node >= 0; node--) { // so that none is the beginning of another
            RunNode member = group.get(node);
            named = named.replace("node=#" + member.node(), "node=" + member.text());
        }
        return named;
    }

    private void awaitData(List<RunNode> asked, Predicate<RunNode> hasAnswered) throws InterruptedException {
        while (stop == null
                && asked.stream().noneMatch(Leader::hasFailed)
                && asked.stream().anyMatch(member -> members.contains(member) && !hasAnswered.test(member))) {
            handle(next(Deadline.none())); // a node that dies meanwhile, or is silent, is lost
        }
    }

    private static boolean hasFailed(RunNode member) {
        Message.OfData data = member.data();
        return data != null && data.exitCode() != 0;
    }

    /** Returns the end of the run if a node could not load the data, or has other data than the first node; else null. */
    private @Nullable Verdict compareData() {
        Verdict failed = firstFailure();
        if (failed != null) {
            return failed;
        }
        RunNode first = group.get(0);
        Message.Loaded there = first.loaded();
        for (RunNode member : group) {
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
        for (RunNode member : group) {
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

    private static Verdict dataFailed(RunNode member, Message.OfData data) {
        return new Verdict(
                data.exitCode(), "a node has not loaded the data: node=" + member.text() + " reason=" + data.text());
    }

    /** Waits for the fewest nodes until the deadline, and then for others during the join timeout. */
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
        String here = " here=" + members.stream().map(RunNode::text).collect(Collectors.joining(", "));
        return new Verdict(
                ErrorCode.DEADLINE.number(),
                lastLoss.isEmpty()
                        ? "not all nodes came in time: " + facts + here
                                + "; read the output of the others, and check that they reach "
                                + options.endpoint().text()
                        : "too few nodes are left: " + facts + " lost=" + lastLoss
                                + "; start the run again, or allow fewer nodes with --nnodes MIN:MAX");
    }

    private Verdict stopped() {
        StopKind kind = stop == null ? StopKind.TERMINATE : stop;
        return new Verdict(kind.exitCode(), "the run was stopped: by=" + stoppedBy);
    }

    /** Chooses the nodes of a round: those of the last round first, and in the order of node ranks if all have one. */
    private List<RunNode> choose() {
        List<RunNode> chosen = members.stream()
                .sorted(Comparator.comparing((RunNode member) -> member != own)
                        .thenComparing(member -> member.node() < 0)
                        .thenComparingInt(RunNode::node)
                        .thenComparingInt(RunNode::number))
                .limit(options.maxNodes())
                .collect(Collectors.toCollection(ArrayList::new));
        if (chosen.stream().allMatch(member -> member.nodeRank() >= 0)) {
            chosen.sort(Comparator.comparingInt(RunNode::nodeRank));
        } else {
            chosen = NodePlaces.kept(chosen);
        }
        for (int node = 0; node < chosen.size(); node++) {
            chosen.get(node).node(node);
        }
        return chosen;
    }

    private Round begin() {
        List<RunNode> chosen = group;
        int ranksHere = options.plan().worldSize();
        Round begun = new Round(
                rounds++, chosen, MasterPort.takeForOthers(options.plan().masterPort()));
        listener.said(chosen.size() + (chosen.size() == 1 ? " node" : " nodes") + " of " + options.minNodes() + ":"
                + options.maxNodes() + " start " + chosen.size() * ranksHere + " ranks: "
                + chosen.stream().map(RunNode::text).collect(Collectors.joining(", ")));
        for (RunNode member : chosen) {
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

    /** Returns the address at which all nodes reach rank 0: the one they have called, if the endpoint's name differs on this machine. */
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

    /** Returns the end of the run after a round; null if another round follows. */
    private @Nullable Verdict judge(Round ended) {
        if (stop != null) {
            return stopped();
        }
        if (!ended.lost().isEmpty()) {
            return null;
        }
        RunNode failed = ended.firstFailure().orElse(null);
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
        boolean isSettled = contested.settle(
                this::objectionTo,
                rival -> lose(rival, "its machine has come again, and it has been silent since"),
                this::seat,
                this::refuse);
        if (isSettled) {
            return null; // a wait for members checks again
        }
        long atMost = Math.min(Duration.ofHours(1).toNanos(), contested.nextNanos());
        return events.poll(Math.min(deadline.remainingNanos(), atMost), TimeUnit.NANOSECONDS);
    }

    private void handle(Arrivals.@Nullable Event event) {
        if (event == null) {
            return;
        }
        RunNode member = event.member();
        String gone = event.goneBecause();
        Message message = event.message();
        if (gone != null) {
            lose(member, gone);
        } else if (message == null) {
            seat(member);
        } else if (member.isSeated() || message instanceof Message.Stop) {
            hear(member, message);
        }
    }

    private void seat(RunNode caller) {
        if (end != null) {
            caller.tell(farewell(caller, end));
            return;
        }
        caller.reassure(options.times().heartbeat());
        boolean isOwn = caller.hello().token().equals(token);
        RunNode leader = isOwn ? caller : own;
        if (leader == null) {
            early.add(caller); // all others are compared with the leader's own node, which calls immediately
            return;
        }
        Objection objection = isOwn ? null : objectionTo(caller);
        if (objection != null && objection.rival() != null && objection.rival() != leader) {
            contested.add(caller);
            return;
        }
        if (objection != null) {
            refuse(caller, objection.text());
            return;
        }
        own = leader;
        caller.seat();
        members.add(caller);
        caller.tell(new Message.Seated(round != null, leader.hello().host()));
        if (round != null) {
            listener.said(caller.text() + " came late, and takes part from the next restart on");
        }
        List<RunNode> waiting = List.copyOf(early);
        early.clear();
        waiting.forEach(this::seat);
    }

    private @Nullable Objection objectionTo(RunNode caller) {
        RunNode leader = own;
        int places = options.minNodes() == options.maxNodes() ? options.maxNodes() : Integer.MAX_VALUE; // or spares
        return leader == null ? null : AdmissionRules.to(caller, leader.hello(), members, places);
    }

    private void refuse(RunNode caller, String objection) {
        listener.said("a node was turned away: node=" + caller.text() + " reason=" + objection);
        caller.tell(new Message.Refused(objection));
        caller.hangUp();
    }

    private void hear(RunNode member, Message message) {
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

    /** Stops the run at the request of a node that takes part, or leads. A node that only waits leaves the run. */
    private void askStop(RunNode member, StopKind kind, boolean takesPart) {
        if (!takesPart && member != own) {
            early.remove(member);
            contested.remove(member);
            member.tell(farewell(member, new Verdict(kind.exitCode(), "stopped before it took part")));
            return;
        }
        if (stop == null || kind.compareTo(stop) > 0) {
            stop = kind;
            stoppedBy = stoppedBy.isEmpty() ? "SIG" + kind.signal() + " at " + member.text() : stoppedBy;
        }
    }

    private void lose(RunNode member, String cause) {
        member.hangUp();
        early.remove(member);
        contested.remove(member);
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

    /** Returns the last message to a node. A launcher that never ran a rank must not report success. */
    private Message farewell(RunNode member, Verdict verdict) {
        if (verdict.exitCode() == 0 && !member.hasTakenPart()) {
            String reason = AdmissionRules.unused(options.minNodes() + ":" + options.maxNodes(), options.runName());
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
        group = List.of(); // a node that leaves now is not lost
        members.forEach(member -> member.tell(farewell(member, verdict)));
        Deadline patience = Deadline.after(FAREWELL);
        while (!members.isEmpty() && !patience.isOver()) {
            handle(next(patience));
        }
        members.forEach(member -> member.hangUp());
    }

    /** Waits until all nodes have the end of the run. */
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
        events.forEach(event -> event.member().hangUp()); // those that came too late
    }
}
