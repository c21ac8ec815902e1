/** What the tests of every module share. */
@NullMarked
package dev.larder.testing;

import org.jspecify.annotations.NullMarked;
