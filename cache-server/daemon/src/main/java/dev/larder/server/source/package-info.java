/**
 * The sources of a load: finds their files, checks all of them before anything is written, and opens their data. Start at {@code ScannedSource} in
 * the package {@code scan}. This package has the types that the others share.
 */
@NullMarked
package dev.larder.server.source;

import org.jspecify.annotations.NullMarked;
