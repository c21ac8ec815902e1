/**
 * Finds the arrays of a source. {@link dev.larder.server.source.scan.ScannedSource} is the entry point: a {@code FileListing} of the files goes to the
 * table of {@code Formats}, which collect their arrays in {@code Findings}.
 */
@NullMarked
package dev.larder.server.source.scan;

import org.jspecify.annotations.NullMarked;
