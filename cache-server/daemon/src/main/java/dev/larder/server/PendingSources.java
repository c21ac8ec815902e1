package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.LoadRequest.Source;
import dev.larder.server.control.Reply;
import java.util.ArrayList;
import java.util.List;

/** The sources that a connection has sent ahead of its load. Used by the control thread. */
final class PendingSources {
    /** Room for more files than a load can have. */
    private static final long MOST_CHARACTERS = 256L << 20;

    private static final int CHARACTERS_OF_OBJECTS = 100;

    private final List<Source> sources = new ArrayList<>();
    private long characters;

    /** Returns those of a connection. */
    static PendingSources of(Reply.Session session) {
        if (session.kept() instanceof PendingSources pending) {
            return pending;
        } else if (session.kept() != null) {
            throw Failure.of(ErrorCode.REFUSED, "the connection has a build").remedy("load on a connection of its own");
        }
        PendingSources pending = new PendingSources();
        session.keep(pending, () -> {});
        return pending;
    }

    /** Adds some, if they fit into the memory of this daemon. */
    void add(List<Source> more) {
        long most = Math.min(MOST_CHARACTERS, Runtime.getRuntime().maxMemory() / 16);
        for (Source source : more) {
            characters += CHARACTERS_OF_OBJECTS
                    + source.name().length()
                    + source.path().length();
        }
        if (characters > most) {
            throw Failure.of(ErrorCode.REFUSED, "the load has too many sources")
                    .with("sources", sources.size() + more.size())
                    .with("limit", most + " characters")
                    .remedy("name folders instead of files, or load in several steps");
        }
        sources.addAll(more);
    }

    /** Returns a load with the sources that were sent ahead of it. */
    static LoadRequest addTo(LoadRequest load, Reply.Session session) {
        if (!(session.kept() instanceof PendingSources pending)) {
            return load;
        }
        session.forget();
        List<Source> all = new ArrayList<>(pending.sources);
        all.addAll(load.sources());
        return load.withSources(all);
    }
}
