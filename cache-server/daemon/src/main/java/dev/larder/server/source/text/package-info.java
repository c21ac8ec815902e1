/**
 * Reads files of text, line by line: {@link dev.larder.server.source.text.TextFile} gives their cells to a {@link
 * dev.larder.server.source.text.CellSink}.
 */
@NullMarked
package dev.larder.server.source.text;

import org.jspecify.annotations.NullMarked;
