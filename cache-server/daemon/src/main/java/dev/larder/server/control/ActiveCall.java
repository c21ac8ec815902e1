package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import dev.larder.message.Messages;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A call of a client and its unsent messages. Any thread adds messages, the control thread sends them. Their memory is bounded: a newer
 * progress replaces an unsent older one, and rows stay in their list until they are sent.
 */
final class ActiveCall implements Reply {
    /** The connection of a call. */
    interface Caller extends Session {
        Peer peer();

        /** Reports that there is something to send. */
        void readyToSend();

        /** Reports that an action of a handler failed. */
        void failed(Throwable failure);
    }

    private final Caller caller;
    private final boolean wantsMore;
    private final boolean isOneway;
    private final List<Runnable> disconnectActions = new ArrayList<>();
    private final List<Runnable> endActions = new ArrayList<>();
    private final List<Runnable> sentActions = new ArrayList<>();
    private Progress lastProgress = Progress.of(Progress.Phase.WAITING, "", "");
    private boolean isProgressUnsent;
    private @Nullable Response answer;
    private @Nullable Iterator<byte[]> messages;
    private boolean isAnswered;
    private boolean isLeft;
    private boolean isOver;

    /**
     * Begins a call.
     *
     * @param wantsMore whether the client accepts several messages
     * @param isOneway whether it accepts none
     */
    ActiveCall(Caller caller, boolean wantsMore, boolean isOneway) {
        this.caller = caller;
        this.wantsMore = wantsMore;
        this.isOneway = isOneway;
    }

    @Override
    public Peer peer() {
        return caller.peer();
    }

    @Override
    public Session session() {
        return caller;
    }

    @Override
    public void progress(Progress progress) {
        synchronized (this) {
            if (isAnswered || isLeft) {
                return;
            }
            lastProgress = progress;
            isProgressUnsent = wantsMore && !isOneway;
        }
        caller.readyToSend();
    }

    /** Repeats the last progress as a sign of life. */
    void repeatProgress() {
        Progress last;
        synchronized (this) {
            last = lastProgress;
        }
        progress(last);
    }

    @Override
    public void answer(Response response) {
        List<Runnable> actions;
        synchronized (this) {
            if (isAnswered || isLeft) {
                return;
            }
            isAnswered = true;
            answer = response;
            actions = taken(endActions);
            disconnectActions.clear();
        }
        actions.forEach(this::run);
        caller.readyToSend();
    }

    @Override
    public void problem(Throwable failure) {
        answer(Problem.of(failure));
    }

    @Override
    public void onDisconnect(Runnable action) {
        synchronized (this) {
            if (!isLeft) {
                if (!isAnswered) {
                    disconnectActions.add(action);
                }
                return;
            }
        }
        run(action);
    }

    @Override
    public void onEnd(Runnable action) {
        addOrRun(endActions, action, () -> isAnswered || isLeft);
    }

    @Override
    public void onSent(Runnable action) {
        addOrRun(sentActions, action, () -> isOver);
    }

    private void addOrRun(List<Runnable> actions, Runnable action, BooleanSupplier isTooLate) {
        synchronized (this) {
            if (!isTooLate.getAsBoolean()) {
                actions.add(action);
                return;
            }
        }
        run(action);
    }

    @Override
    public synchronized boolean isConnected() {
        return !isLeft && !isAnswered;
    }

    /** Returns whether a handler has given its answer, sent or not. */
    synchronized boolean isAnswered() {
        return isAnswered;
    }

    /** Returns the next message to send; null if there is none now. */
    byte @Nullable [] poll() {
        Progress progress;
        Response response;
        synchronized (this) {
            progress = isProgressUnsent && !isAnswered ? lastProgress : null;
            isProgressUnsent = false;
            response = answer;
        }
        if (progress != null) {
            return Answers.encodeProgress(progress);
        }
        if (response == null || isOneway) {
            return null;
        }
        if (messages == null) {
            messages = encoded(response);
        }
        return messages.hasNext() ? messages.next() : null;
    }

    private Iterator<byte[]> encoded(Response response) {
        if (wantsMore) {
            return Answers.encode(response);
        }
        try {
            return List.of(Answers.encodeOne(response)).iterator();
        } catch (Messages.MessageTooLong e) {
            Problem problem = Problem.ofCall(
                    "ExpectedMore",
                    Failure.of(ErrorCode.USAGE, "the answer is too long for one message")
                            .remedy("call with \"more\": true"));
            return List.of(Answers.encodeOne(problem)).iterator();
        }
    }

    /** Returns whether the answer is complete and every message of it was taken. */
    synchronized boolean isDrained() {
        return isAnswered && (isOneway || (messages != null && !messages.hasNext()));
    }

    /** Ends the call after the whole answer was sent. */
    void sent() {
        end(List.of());
    }

    /** Ends the call because the client has left. */
    void leave() {
        List<Runnable> actions;
        synchronized (this) {
            isLeft = true;
            actions = new ArrayList<>(taken(disconnectActions));
            actions.addAll(taken(endActions));
            answer = null;
        }
        end(actions);
    }

    private void end(List<Runnable> first) {
        List<Runnable> actions = new ArrayList<>(first);
        synchronized (this) {
            isOver = true;
            actions.addAll(taken(sentActions));
        }
        actions.forEach(this::run);
    }

    private static List<Runnable> taken(List<Runnable> actions) {
        List<Runnable> all = List.copyOf(actions);
        actions.clear();
        return all;
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error failure) {
            caller.failed(failure);
        }
    }
}
