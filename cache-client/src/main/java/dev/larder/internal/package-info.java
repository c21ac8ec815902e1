/**
 * Code that Larder's own programs share with its client. Trainers do not import it; it may change with any release.
 *
 * <p>{@link dev.larder.internal.DatasetUpload} builds a dataset through the daemon.
 */
@NullMarked
package dev.larder.internal;

import org.jspecify.annotations.NullMarked;
