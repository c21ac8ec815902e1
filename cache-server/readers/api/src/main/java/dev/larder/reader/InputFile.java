package dev.larder.reader;

import java.nio.file.Path;

/**
 * A file to read.
 *
 * @param path where it lies
 * @param level what the names of its arrays begin with: empty, or ending with a slash. Files of one level that follow each other are parts
 *     of the same arrays where the reader joins files
 */
public record InputFile(Path path, String level) {}
