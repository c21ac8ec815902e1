/**
 * Reads Arrow IPC files and streams: walks the headers of their messages, and says where the data of columns lies. Start at {@link
 * dev.larder.server.source.arrow.ArrowTable}; {@link dev.larder.server.source.arrow.ArrowFolder} tells which files of a folder
 * belong together. Nothing that a file says is trusted.
 */
@NullMarked
package dev.larder.server.source.arrow;

import org.jspecify.annotations.NullMarked;
