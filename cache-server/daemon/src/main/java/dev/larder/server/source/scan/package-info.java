/**
 * Goes through a source: {@link dev.larder.server.source.scan.ScannedSource} is the entry point. Columns are made here,
 * arrays of single files by their formats.
 */
@NullMarked
package dev.larder.server.source.scan;

import org.jspecify.annotations.NullMarked;

