"""The rewards in the shapes that trainers and harnesses call: one file a library, none of which is imported here.

Each file has the strict reward under the library's usual name and the dense one beside it. What a library calls ground
truth, metadata or columns is the row's `gamegen.reward.NEEDED` columns, as a mapping or as JSON.
"""
