/**
 * Launchers of several machines, which meet, start their ranks together, and detect a lost machine: start at
 * {@link dev.larder.cluster.NodeLaunch}.
 */
@NullMarked
package dev.larder.cluster;

import org.jspecify.annotations.NullMarked;
