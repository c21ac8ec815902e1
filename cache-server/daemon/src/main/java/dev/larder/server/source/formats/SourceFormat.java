package dev.larder.server.source.formats;

import dev.larder.server.source.SourceArray;
import java.io.IOException;
import java.util.List;

/** Finds the arrays in files of one kind, and checks everything but their data. Thread-safe. */
interface SourceFormat {
    /** Returns the arrays of a listed file. Fails with a refusal if the file is bad. */
    List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) throws IOException;
}
