/** jcstress: what two threads may see of publishing, leasing, reading, closing and removing. Each class is one test. */
@NullMarked
package dev.larder.stress;

import org.jspecify.annotations.NullMarked;
