/**
 * Reads Arrow IPC files and streams: walks the headers of their messages, and finds the data of columns. Start at {@link
 * dev.larder.server.source.arrow.ArrowTable}; {@link dev.larder.server.source.arrow.ArrowFolder} groups the files of a folder into
 * tables. Every number of a file is checked before it is used.
 */
@NullMarked
package dev.larder.server.source.arrow;

import org.jspecify.annotations.NullMarked;
