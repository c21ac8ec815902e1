/**
 * Unpacks files, and stretches of files, for the daemon, which then reads them itself. Found by {@link java.util.ServiceLoader} as a
 * {@link dev.larder.reader.FormatReader}.
 */
@NullMarked
package dev.larder.readers.packed;

import org.jspecify.annotations.NullMarked;
