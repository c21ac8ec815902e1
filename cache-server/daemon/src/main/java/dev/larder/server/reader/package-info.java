/**
 * Programs that read foreign formats, seen from the daemon: which there are, how one is started, watched and ended, and how what it writes
 * becomes arrays of a source. Start at {@code ReaderSource}.
 */
@NullMarked
package dev.larder.server.reader;

import org.jspecify.annotations.NullMarked;
