/** Reads Apache Parquet. Found by {@link java.util.ServiceLoader} as a {@link dev.larder.reader.FormatReader}. */
@NullMarked
package dev.larder.readers.parquet;

import org.jspecify.annotations.NullMarked;
