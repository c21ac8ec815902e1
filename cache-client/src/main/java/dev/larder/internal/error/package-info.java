/** Creates errors and warnings. Every message contains the failure, its values and a remedy. */
@NullMarked
package dev.larder.internal.error;

import org.jspecify.annotations.NullMarked;
