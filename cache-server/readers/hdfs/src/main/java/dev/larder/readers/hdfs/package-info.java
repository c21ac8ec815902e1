/** Reads files of HDFS. Found by {@link java.util.ServiceLoader} as a {@link dev.larder.reader.PlaceReader}. */
@NullMarked
package dev.larder.readers.hdfs;

import org.jspecify.annotations.NullMarked;
