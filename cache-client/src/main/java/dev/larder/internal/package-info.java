/**
 * What Larder's own programs share with its client, and trainers do not import: it may change with any release.
 *
 * <p>{@link dev.larder.internal.DatasetUpload} is a build of a dataset with all that the daemon is told about it.
 */
@NullMarked
package dev.larder.internal;

import org.jspecify.annotations.NullMarked;
