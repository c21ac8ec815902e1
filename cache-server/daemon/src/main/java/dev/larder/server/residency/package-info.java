/** Which versions are resident: {@link dev.larder.server.residency.Residency} decides what is current, retired and removed. */
@NullMarked
package dev.larder.server.residency;

import org.jspecify.annotations.NullMarked;
