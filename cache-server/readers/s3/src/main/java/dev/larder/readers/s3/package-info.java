/** Reads objects of S3 buckets, Amazon's and others. Found by {@link java.util.ServiceLoader} as a {@link dev.larder.reader.PlaceReader}. */
@NullMarked
package dev.larder.readers.s3;

import org.jspecify.annotations.NullMarked;
