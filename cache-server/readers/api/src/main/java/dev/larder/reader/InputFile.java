package dev.larder.reader;

import java.nio.file.Path;

/**
 * A file to read.
 *
 * @param level the beginning of the names of its arrays: empty, or with a slash at its end. If the reader joins files, those of one level that follow
 *     each other are parts of the same arrays
 */
public record InputFile(Path path, String level) {}
