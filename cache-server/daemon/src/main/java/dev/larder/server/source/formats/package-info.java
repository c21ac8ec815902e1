/**
 * Formats of files of arrays: {@link dev.larder.server.source.formats.SourceKind} is the list, {@link dev.larder.server.source.formats.SourceProbe}
 * finds the arrays in a file.
 */
@NullMarked
package dev.larder.server.source.formats;

import org.jspecify.annotations.NullMarked;
