/**
 * Programs that read foreign formats, from the daemon's side: the list of readers, the start, the supervision and the end of their processes, and the
 * arrays that they write. Start at {@code ReaderSource}.
 */
@NullMarked
package dev.larder.server.reader;

import org.jspecify.annotations.NullMarked;
