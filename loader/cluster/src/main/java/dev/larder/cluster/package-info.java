/**
 * How the launchers of several machines meet, start their ranks together, and see that a machine is lost: start at
 * {@link dev.larder.cluster.NodeLaunch}.
 */
@NullMarked
package dev.larder.cluster;

import org.jspecify.annotations.NullMarked;
