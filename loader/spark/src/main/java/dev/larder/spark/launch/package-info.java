/**
 * Starts the nodes of a launch as tasks of Spark: {@link dev.larder.spark.launch.SparkLaunch} in a program that has a context, {@link
 * dev.larder.spark.launch.LaunchMain} for {@code larder launch --via spark}.
 */
@NullMarked
package dev.larder.spark.launch;

import org.jspecify.annotations.NullMarked;
