package dev.larder.server.source.formats;

import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import java.io.IOException;
import java.util.List;

/** Reads and checks everything in files of one kind but the data itself. Thread-safe. */
public interface SourceFormat {
    /**
     * Returns the arrays of a file that was listed. Whatever is wrong with it is a
     * {@link dev.larder.error.ErrorCode#BAD_INPUT} failure that names the file.
     */
    List<Member> members(DiscoveredFile file, SourceProbe probe, SourceOptions options) throws IOException;
}
