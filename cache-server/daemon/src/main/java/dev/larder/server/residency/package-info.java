/** Resident versions: {@link dev.larder.server.residency.Residency} decides which are current, retired and removed. */
@NullMarked
package dev.larder.server.residency;

import org.jspecify.annotations.NullMarked;
