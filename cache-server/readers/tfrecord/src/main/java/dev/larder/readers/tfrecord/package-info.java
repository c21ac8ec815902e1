/** Reads TFRecord. Found by {@link java.util.ServiceLoader} as a {@link dev.larder.reader.FormatReader}. */
@NullMarked
package dev.larder.readers.tfrecord;

import org.jspecify.annotations.NullMarked;
