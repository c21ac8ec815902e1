/** Opens regions of computed rows. Start at {@link dev.larder.internal.rows.RowsRegion}. For Larder's own modules. */
@NullMarked
package dev.larder.internal.rows;

import org.jspecify.annotations.NullMarked;
