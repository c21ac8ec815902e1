package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.LoadRequest.Source;
import dev.larder.message.MessageBudget;
import dev.larder.server.control.Reply;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sources that a connection has sent before its load. Used by the control thread. */
final class PendingSources {
    private static final int BYTES_OF_OBJECTS = 120;

    private final MessageBudget budget;
    private final List<Source> sources = new ArrayList<>();
    private long takenBytes;
    private @Nullable LarderException refusal;

    private PendingSources(MessageBudget budget) {
        this.budget = budget;
    }

    /** Returns those of a connection. Their memory is counted against a budget. */
    static PendingSources of(Reply.Session session, MessageBudget budget) {
        if (session.attachment() instanceof PendingSources pending) {
            return pending;
        } else if (session.attachment() != null) {
            throw Failure.of(ErrorCode.REFUSED, "the connection has a build").remedy("load on a connection of its own");
        }
        PendingSources pending = new PendingSources(budget);
        session.attach(pending, false, pending::release);
        return pending;
    }

    /** Adds sources if there is memory for them. If there is none, the whole load is refused. */
    void add(List<Source> more) {
        long bytes = 0;
        for (Source source : more) {
            bytes += BYTES_OF_OBJECTS
                    + 2L * (source.name().length() + source.path().length());
        }
        if (!budget.tryTake(bytes)) {
            release();
            refusal = Failure.of(ErrorCode.REFUSED, "the daemon has no memory for the sources of a load")
                    .with("sources", sources.size() + more.size())
                    .remedy("name folders instead of files, or load in several steps");
        }
        requireWhole();
        takenBytes += bytes;
        sources.addAll(more);
    }

    private void requireWhole() {
        if (refusal != null) {
            throw refusal;
        }
    }

    private void release() {
        budget.giveBack(takenBytes);
        takenBytes = 0;
        sources.clear();
    }

    /** Returns a load with the sources that were sent before it. */
    static LoadRequest addTo(LoadRequest load, Reply.Session session) {
        if (!(session.attachment() instanceof PendingSources pending)) {
            return load;
        }
        session.detach();
        List<Source> all = new ArrayList<>(pending.sources);
        pending.release();
        pending.requireWhole();
        all.addAll(load.sources());
        return load.withSources(all);
    }
}
