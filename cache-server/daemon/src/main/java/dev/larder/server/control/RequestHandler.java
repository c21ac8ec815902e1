package dev.larder.server.control;

import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.NewFilesRequest;
import dev.larder.protocol.PublishRequest;
import dev.larder.protocol.RegionRequest;
import dev.larder.protocol.Request;
import java.time.Duration;

/**
 * Gives requests their meaning. All methods are called on the control thread and return at once: what takes time goes to
 * other threads, which answer through the {@link Reply} whenever they are ready. A method that throws has its exception
 * sent as the answer.
 */
public interface RequestHandler {
    /** Loads sources and publishes them; done when all are resident. */
    void load(LoadRequest request, Reply reply);

    /** Answers with the right to build a dataset as soon as it is the caller's turn; done where it is resident. */
    void create(Request.Create request, Reply reply);

    /** Makes files for a client that builds; done when they are there. */
    void makeFiles(NewFilesRequest request, Reply reply);

    /** Sets space aside for a build; done when it is there. */
    void makeRoom(Request.MakeRoom request, Reply reply);

    /** Publishes what a client built; done when it is resident. */
    void publish(PublishRequest request, Reply reply);

    /**
     * Answers when the dataset or array is resident, at the latest when the timeout has passed. What nobody knows or loads
     * fails at once, unless it is to be waited for as well.
     */
    void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply);

    /** Answers with one row per array whose full name starts with the prefix, then is done. */
    void list(String prefix, boolean includeRetired, Reply reply);

    /** Answers with the row of an array, or the rows of a dataset, then is done. */
    void info(String name, Reply reply);

    /** Removes the newest version of a dataset, and where asked to forgets where it came from. */
    void evict(String name, boolean forget, Reply reply);

    /** Keeps a dataset resident, or no longer. */
    void pin(String name, boolean pinned, Reply reply);

    /** Answers with one row for each kind of error that was met, then is done. */
    void errors(Reply reply);

    /** Computes checksums again, and where asked to those of the sources as well; the empty name means everything. */
    void verify(String name, boolean againstSources, Reply reply);

    /** Loads a dataset again, from where and in the way it was loaded; done when it is known to be up to date. */
    void reload(String name, Reply reply);

    /** Answers with totals, then is done. */
    void status(Reply reply);

    /** Makes, lists or removes regions. */
    void regions(RegionRequest request, Reply reply);

    /** Stops the daemon; done once its files are gone, or kept. */
    void stop(boolean keep, Reply reply);
}
