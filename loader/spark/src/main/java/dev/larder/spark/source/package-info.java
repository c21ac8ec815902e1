/**
 * The data source {@code larder} of Spark: {@code df.write().format("larder").save(folder)} writes a folder that {@code larder load NAME=folder}
 * reads as one dataset, and {@code spark.read().format("larder").load(folder)} reads it back.
 */
@NullMarked
package dev.larder.spark.source;

import org.jspecify.annotations.NullMarked;
