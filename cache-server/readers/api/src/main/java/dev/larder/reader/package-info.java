/**
 * The parts of programs that read foreign formats. A reader implements {@link dev.larder.reader.FormatReader} and runs in a process of its own, which
 * the daemon starts; {@link dev.larder.reader.ReaderProgram} is its {@code main}.
 */
@NullMarked
package dev.larder.reader;

import org.jspecify.annotations.NullMarked;
