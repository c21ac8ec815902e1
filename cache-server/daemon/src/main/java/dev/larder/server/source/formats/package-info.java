/** The formats that arrays come in, found by {@link dev.larder.server.source.formats.ArrayFormats}. */
@NullMarked
package dev.larder.server.source.formats;

import org.jspecify.annotations.NullMarked;
