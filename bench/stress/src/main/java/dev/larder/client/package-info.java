/** The door through which stress tests reach what trainers do not see. */
@NullMarked
package dev.larder.client;

import org.jspecify.annotations.NullMarked;
